import { isFieldLine } from './response-head.ts'

/** Where in a chunked body (RFC 9112, 7.1) the next byte belongs. */
type Place = 'size' | 'data' | 'data-end' | 'trailers' | 'end'

/** A size, and extensions: `;name`, `;name=word`, `;name="text"`. */
const SIZE_LINE =
  /^([\dA-Fa-f]{1,13})(?:;[!#$%&'*+\-.^_`|~\dA-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+|"[\t\x20\x21\x23-\x5b\x5d-\x7e]*"))?)*\r\n$/
const LINE_FEED = 0x0a

/** Finds the data in a chunked body, whatever pieces it comes in. Extensions and trailers are read over. */
export class ChunkedBody {
  readonly #lineBytesMax: number
  #place: Place = 'size'
  #left = 0
  #line = ''
  #trailerBytes = 0

  /** `lineBytesMax` bounds each line, and all trailers together. */
  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax
  }

  get isWhole(): boolean {
    return this.#place === 'end'
  }

  /**
   * Reads from `start` until there is data, or until the end; `data` is told of each piece. Answers how far it has come,
   * or −1 where it is no chunked body.
   */
  read(bytes: Buffer, start: number, end: number, data: (from: number, to: number) => boolean): number {
    let at = start
    while (at < end && this.#place !== 'end') {
      if (this.#place === 'data') {
        const to = Math.min(end, at + this.#left)
        this.#left -= to - at
        if (this.#left === 0) this.#place = 'data-end'
        if (!data(at, to)) return to
        at = to
      } else {
        at = this.#readLine(bytes, at, end)
        if (at < 0) return -1
      }
    }
    return at
  }

  #readLine(bytes: Buffer, start: number, end: number): number {
    const feed = bytes.indexOf(LINE_FEED, start)
    const isWhole = feed >= 0 && feed < end
    const to = isWhole ? feed + 1 : end
    this.#line += bytes.toString('latin1', start, to)
    if (this.#line.length > this.#lineBytesMax) return -1
    if (!isWhole) return to
    const line = this.#line
    this.#line = ''
    return this.#take(line) ? to : -1
  }

  #take(line: string): boolean {
    switch (this.#place) {
      case 'size':
        return this.#takeSize(line)
      case 'data-end':
        this.#place = 'size'
        return line === '\r\n'
      default:
        return this.#takeTrailer(line)
    }
  }

  #takeSize(line: string): boolean {
    const digits = SIZE_LINE.exec(line)?.[1]
    if (digits === undefined) return false
    this.#left = Number.parseInt(digits, 16)
    this.#place = this.#left === 0 ? 'trailers' : 'data'
    return true
  }

  #takeTrailer(line: string): boolean {
    if (line === '\r\n') {
      this.#place = 'end'
      return true
    }
    this.#trailerBytes += line.length
    return this.#trailerBytes <= this.#lineBytesMax && isFieldLine(line)
  }
}
