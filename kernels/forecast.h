/* Constants behind the kernels' forecasts, in clocks of a multiprocessor so that they hold at any clock rate.
 * Measured on an H200 by bench/kernels.
 */
#ifndef TB_FORECAST_H
#define TB_FORECAST_H

#define TB_FMA_A_CLOCK 128.0

/* A second launch behind a first one, beside the bytes that it moves. */
#define TB_SECOND_LAUNCH_CLOCKS 5500.0

/* A multiprocessor's share of 4.3 TB/s, at 1.65 GHz. */
#define TB_BYTES_A_CLOCK 20.0

/* The most that it gets, 4.5 TB/s at 1.6 GHz: of long runs that are only read. */
#define TB_READ_BYTES_A_CLOCK 21.7

#endif
