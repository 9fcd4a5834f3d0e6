/** The figure of a row that wrk has measured too. */
export const WRK_RATE = 'wrk per second'
