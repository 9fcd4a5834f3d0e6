/** Where there is no room for one more name, calls and transactions are counted together under this one. */
export const OTHER = 'other'
