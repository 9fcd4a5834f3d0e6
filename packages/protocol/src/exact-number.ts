/**
 * Tells whether JavaScript keeps the number that a JSON literal means, compared with the shortest decimal that it
 * prints for it: 0.1, 1.0, 1e2 and -0 are exact; 9007199254740993 and 1e400 are not.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  const written = toDecimal(literal)
  const kept = toDecimal(String(value))
  return written.digits === kept.digits && written.exponent === kept.exponent
}

interface Decimal {
  /** These are the significant digits, without zeros at either end. For zero there are none. */
  readonly digits: string
  /** The value is 0.digits × 10^exponent. */
  readonly exponent: number
}

function toDecimal(literal: string): Decimal {
  const unsigned = literal.startsWith('-') ? literal.slice(1) : literal
  const exponentAt = unsigned.search(/[eE]/)
  const mantissa = exponentAt === -1 ? unsigned : unsigned.slice(0, exponentAt)
  const written = exponentAt === -1 ? 0 : Number(unsigned.slice(exponentAt + 1))
  const pointAt = mantissa.indexOf('.')
  const integerLength = pointAt === -1 ? mantissa.length : pointAt
  const all = pointAt === -1 ? mantissa : mantissa.slice(0, pointAt) + mantissa.slice(pointAt + 1)
  const { start, end } = findSignificantRange(all)
  if (start === end) return { digits: '', exponent: 0 }
  return { digits: all.slice(start, end), exponent: written + integerLength - start }
}

// These are loops, since /0+$/ takes quadratic time on a megabyte of zeros that ends in a one.
function findSignificantRange(digits: string): { readonly start: number; readonly end: number } {
  let start = 0
  while (start < digits.length && digits[start] === '0') start += 1
  let end = digits.length
  while (end > start && digits[end - 1] === '0') end -= 1
  return { start, end }
}
