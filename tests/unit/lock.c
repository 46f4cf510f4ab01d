/* Locks whose owner may leave: whoever gives one up says so to all who take it later, and wakes who waits. */
#include "lib/process/lock.h"
#include "tests/check.h"

#include <pthread.h>
#include <semaphore.h>

static tb_lock first, second;
static sem_t has_both, may_leave;

/* Leaves as a jump does, which frees nothing. */
static void *leave_with_both(void *unused)
{
    tb_take_lock(&first);
    tb_take_lock(&second);
    sem_post(&has_both);
    sem_wait(&may_leave);
    tb_give_up_locks();
    CHECK(!tb_has_locks(), "a lock is left over");
    return unused;
}

static void *take_first(void *unused)
{
    tb_take_lock(&first);
    CHECK(tb_is_damaged(&first), "taken as if nobody had left");
    tb_free_lock(&first);
    return unused;
}

static void a_lock_that_is_freed_is_whole(void)
{
    tb_take_lock(&first);
    CHECK(tb_has_locks(), "it was not taken");
    tb_free_lock(&first);
    CHECK(!tb_has_locks() && !tb_is_damaged(&first), "it was freed");
    tb_give_up_locks();
    CHECK(!tb_is_damaged(&first), "given up by somebody who had it no more");
}

static void locks_that_are_given_up_are_damaged_and_free(void)
{
    pthread_t leaver, waiter;
    pthread_create(&leaver, NULL, leave_with_both, NULL);
    sem_wait(&has_both);
    pthread_create(&waiter, NULL, take_first, NULL);
    sem_post(&may_leave);
    pthread_join(leaver, NULL);
    pthread_join(waiter, NULL);
    tb_take_lock(&second);
    CHECK(tb_is_damaged(&second), "the second is whole");
    tb_free_lock(&second);
}

int main(void)
{
    sem_init(&has_both, 0, 0);
    sem_init(&may_leave, 0, 0);
    a_lock_that_is_freed_is_whole();
    locks_that_are_given_up_are_damaged_and_free();
    return check_result();
}
