/* Threads of a block as contexts of one thread of the host. */
#include "tests/emulated/threads.h"
#include "tests/emulated/block.h"
#include "tests/emulated/cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

dim3 threadIdx, blockIdx, gridDim, blockDim;

namespace emulated
{
namespace
{

constexpr int threads_most = 1024, stack_bytes = 64 << 10, dynamic_bytes = 228 << 10, garbage = 0xa5;

/* Where threads wait until all are there. */
struct barrier {
    int there = 0;
    unsigned turn = 0;
    const char *place = nullptr;
};

struct asynchronous_copy {
    uint32_t to;
    const void *from;
    int bytes;
    bool exists;
    int group;
};

struct thread {
    jmp_buf context;
    std::unique_ptr<char[]> stack;
    bool begun = false, over = true;
    const barrier *waits_at = nullptr;
    unsigned turn = 0; /* of that */
    int exchanges = 0, group = 0;
    std::vector<asynchronous_copy> copies;
};

struct warp {
    barrier all;
    alignas(16) char exchanged[2][lanes * exchanged_most];
};

thread threads[threads_most];
warp warps[threads_most / lanes];
barrier block;
int count, current, alive;
bool any, any_before, copies_at_once;
jmp_buf scheduler;
std::mt19937_64 random;
alignas(128) char dynamic[dynamic_bytes];

emulated_kernel *running;
const void *argument_of_running;

[[noreturn]] void fail(const char *what, const char *place)
{
    std::fprintf(stderr, "emulated block %u, thread %d: %s, %s\n", blockIdx.x, current, what, place);
    std::_Exit(EXIT_FAILURE);
}

void do_copy(const asynchronous_copy &copy)
{
    if (copy.exists)
        std::memcpy(memory_at(copy.to), copy.from, size_t(copy.bytes));
    else
        std::memset(memory_at(copy.to), 0, size_t(copy.bytes));
}

/* A context's own function, which never returns: it begins a kernel anew for each block. */
void run_thread()
{
    thread &own = threads[current];
    while (true) {
        running(argument_of_running);
        own.over = true;
        if (!_setjmp(own.context))
            _longjmp(scheduler, 1);
    }
}

void begin(thread &own)
{
    static ucontext_t context, unused;
    own.stack.reset(new char[stack_bytes]);
    getcontext(&context);
    context.uc_stack.ss_sp = own.stack.get();
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_thread, 0);
    own.begun = true;
    swapcontext(&unused, &context);
}

/* Lets a thread go on until it waits or has ended. */
void go_on(int number)
{
    current = number;
    threadIdx.x = unsigned(number);
    if (_setjmp(scheduler))
        return;
    if (threads[number].begun)
        _longjmp(threads[number].context, 1);
    begin(threads[number]);
}

void let_go(barrier &at)
{
    at.there = 0;
    at.turn++;
    if (&at == &block)
        any_before = any;
}

void wait_at(barrier &at, int wanted, const char *place)
{
    thread &own = threads[current];
    if (at.there > 0 && at.place != place)
        fail(place, "others wait elsewhere");
    at.place = place;
    if (++at.there == wanted) {
        let_go(at);
        return;
    }
    own.waits_at = &at;
    own.turn = at.turn;
    if (!_setjmp(own.context))
        _longjmp(scheduler, 1);
    own.waits_at = nullptr;
}

bool can_go_on(const thread &own)
{
    return !own.over && !(own.waits_at && own.waits_at->turn == own.turn);
}

/* All lanes go on, again and again, as long as one of them can. */
bool go_on_with_warp(int number)
{
    bool any_went = false;
    const bool upwards = random() % 2;
    for (bool went = true; went;) {
        went = false;
        for (int i = 0; i < lanes; i++) {
            const int own = number * lanes + (upwards ? i : lanes - 1 - i);
            if (!can_go_on(threads[own]))
                continue;
            went = any_went = true;
            go_on(own);
            if (threads[own].over) {
                alive--;
                if (block.there > 0 && block.there == alive) /* who has ended is not waited for */
                    let_go(block);
            }
        }
    }
    return any_went;
}

void run_block(int shared_bytes)
{
    std::memset(dynamic, garbage, sizeof dynamic);
    block = {};
    alive = count;
    std::vector<int> order;
    for (int i = 0; i < count / lanes; i++) {
        order.push_back(i);
        warps[i].all = {};
    }
    for (int i = 0; i < count; i++) {
        thread &own = threads[i];
        own.over = false;
        own.waits_at = nullptr;
        own.exchanges = own.group = 0;
        own.copies.clear();
    }
    std::shuffle(order.begin(), order.end(), random);
    while (alive > 0) {
        bool went = false;
        for (const int warp : order)
            went = go_on_with_warp(warp) || went;
        if (!went)
            fail("all threads wait", block.place ? block.place : "in their warps");
    }
    for (int i = shared_bytes; i < dynamic_bytes; i++)
        if (dynamic[i] != char(garbage))
            fail("shared memory", "that the launch has not asked for");
}

} // namespace

void wait_for_warp(const char *place)
{
    wait_at(warps[current / lanes].all, lanes, place);
}

void wait_for_block(const char *place)
{
    wait_at(block, alive, place);
}

bool any_of_block(bool value)
{
    if (block.there == 0)
        any = false;
    any = any || value;
    wait_for_block("__syncthreads_or");
    return any_before;
}

int lane()
{
    return current % lanes;
}

/* Two buffers, in turn: who is ahead of the others is so by one exchange at most. */
void *exchanged(const void *value, size_t bytes, const char *place)
{
    auto &buffer = warps[current / lanes].exchanged[threads[current].exchanges++ % 2];
    std::memcpy(buffer + size_t(lane()) * bytes, value, bytes);
    wait_for_warp(place);
    return buffer;
}

/* From the dynamic one's beginning: what a program has of the rest is less than 2 GiB away. */
uint32_t address_of(const void *shared)
{
    return uint32_t(reinterpret_cast<intptr_t>(shared) - reinterpret_cast<intptr_t>(dynamic));
}

void *memory_at(uint32_t address)
{
    return dynamic + int32_t(address);
}

void *dynamic_shared()
{
    return dynamic;
}

void copy(uint32_t to, const void *from, int bytes, bool exists)
{
    thread &own = threads[current];
    own.copies.push_back({to, from, bytes, exists, own.group});
    if (copies_at_once)
        do_copy(own.copies.back());
}

void commit()
{
    threads[current].group++;
}

void wait_for_copies(int pending)
{
    thread &own = threads[current];
    auto left = own.copies.begin();
    for (; left != own.copies.end() && left->group < own.group - pending; ++left)
        if (!copies_at_once)
            do_copy(*left);
    own.copies.erase(own.copies.begin(), left);
}

} // namespace emulated

void emulated_seed(uint64_t seed)
{
    emulated::random.seed(seed);
}

void emulated_run(emulated_kernel *kernel, int64_t blocks, int threads, int shared_bytes,
                  const void *argument)
{
    using namespace emulated;
    if (threads % lanes != 0 || threads > threads_most || shared_bytes > dynamic_bytes || blocks < 1)
        fail("a launch", "of no such block");
    running = kernel;
    argument_of_running = argument;
    count = threads;
    blockDim.x = unsigned(threads);
    gridDim.x = unsigned(blocks);
    copies_at_once = emulated::random() % 2;
    std::vector<unsigned> order(static_cast<size_t>(blocks));
    for (unsigned i = 0; i < order.size(); i++)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), emulated::random);
    for (const unsigned number : order) {
        blockIdx.x = number;
        run_block(shared_bytes);
    }
}
