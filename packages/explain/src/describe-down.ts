/** Says what `looksDown` of a service means. The figures count no status codes, so it may have answered at once. */
export const LOOKS_DOWN = 'gives no usable answer to 9 of 10 calls'
