#include "lib/streaming/exchange.h"

#include "lib/process/lock.h"

/* A side's part of the state, 16 bits: what it has done, and the number of its posts above that. */
#define OPEN      1u
#define QUIT      2u
#define AT_REST   4u
#define ONE_POST  8u
#define SIDE_BITS 16

static uint32_t of_side(uint32_t state, int number)
{
    return state >> (SIDE_BITS * number) & ((1u << SIDE_BITS) - 1);
}

static int other_of(const tb_side *side)
{
    return 1 - side->number;
}

static int posts_of(uint32_t side)
{
    return (int)(side / ONE_POST);
}

/* The state before. */
static uint32_t tell(const tb_side *side, uint32_t what)
{
    _Atomic(uint32_t) *state = &side->exchange->state;
    const uint32_t before = atomic_fetch_or(state, what << (SIDE_BITS * side->number));
    tb_wake_all(state);
    return before;
}

void tb_open_side(tb_side *side)
{
    if (side && of_side(tell(side, OPEN), other_of(side)) & AT_REST)
        tb_quit_exchange(side);
}

void tb_quit_exchange(tb_side *side)
{
    if (side)
        tell(side, side->taken > 0 ? QUIT : QUIT | AT_REST);
}

void tb_close_side(tb_side *side)
{
    if (!side)
        return;
    side->closed = side->taken; /* what is tried again is computed without */
    tell(side, QUIT | AT_REST);
}

/* It has read nothing of what has not been posted. */
void tb_await_other_side(const tb_side *side)
{
    if (!side || posts_of(of_side(atomic_load(&side->exchange->state), side->number)) == 0)
        return;
    _Atomic(uint32_t) *state = &side->exchange->state;
    for (uint32_t now; (of_side(now = atomic_load(state), other_of(side)) & (OPEN | AT_REST)) == OPEN;)
        tb_wait_while(state, now, -1);
}

bool tb_is_exchanging(const tb_side *side)
{
    return side && !(of_side(atomic_load(&side->exchange->state), side->number) & QUIT);
}

void tb_post_columns(tb_side *side, const tb_post *post)
{
    tb_exchange *exchange = side->exchange;
    const int count = posts_of(of_side(atomic_load(&exchange->state), side->number));
    if (count == TB_POSTS_MAXIMUM) {
        tb_quit_exchange(side);
        return;
    }
    exchange->posts[side->number][count] = *post;
    atomic_fetch_add(&exchange->state, ONE_POST << (SIDE_BITS * side->number));
    tb_wake_all(&exchange->state);
}

const tb_post *tb_take_post(tb_side *side)
{
    tb_exchange *exchange = side->exchange;
    while (tb_is_exchanging(side)) {
        const uint32_t now = atomic_load(&exchange->state), other = of_side(now, other_of(side));
        if (posts_of(other) > side->taken)
            return &exchange->posts[other_of(side)][side->taken++];
        if ((other & (OPEN | QUIT)) != OPEN)
            return NULL;
        tb_wait_while(&exchange->state, now, -1);
    }
    return NULL;
}

tb_status tb_check_posts(tb_side *side, int count)
{
    if (!side || count <= side->closed)
        return TB_OK;
    return tb_event_wait(side->exchange->posts[other_of(side)][count - 1].arrived);
}
