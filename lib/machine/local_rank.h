/* Which of the processes of one parallel program on this host this is: ranks are spread over the devices. */
#ifndef TB_LOCAL_RANK_H
#define TB_LOCAL_RANK_H

/* Counted from 0, as the program's launcher says in the environment; -1 when there is none. */
int tb_local_rank(void);

#endif
