const LENGTH_BYTES = 4
/** Every type of a message is an ASCII letter. */
const LETTER = /[A-Za-z]/

/**
 * Reads the statements that one client of a PostgreSQL asks for, in whatever pieces its bytes come. It knows simple queries
 * and the extended protocol, with unnamed and named statements and portals. It must begin between two messages.
 */
export class PostgresRequests {
  /** The bytes of a message that has not come as a whole. */
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #bytesNeeded = 0
  /** The bytes are none of a PostgreSQL client, or are encrypted. */
  #isBlind = false
  readonly #statements = new Map<string, string>()
  readonly #portals = new Map<string, string>()
  #executed: string[] = []

  /**
   * Returns the statements of the requests whose last byte is among these, so that the server can carry them out and answer.
   * A statement that is only parsed or bound is not among them.
   */
  take(chunk: Buffer): readonly string[] {
    if (this.#isBlind) return []
    this.#pieces.push(chunk)
    this.#pieceBytes += chunk.length
    if (this.#pieceBytes < this.#bytesNeeded) return []
    let left = Buffer.concat(this.#pieces)
    const asked: string[] = []
    for (;;) {
      const message = readMessage(left)
      if (message === undefined) return this.#goBlind(asked)
      this.#bytesNeeded = message.bytes
      if (left.length < message.bytes) break
      asked.push(...this.#read(message.type, left.subarray(1 + LENGTH_BYTES, message.bytes)))
      left = left.subarray(message.bytes)
    }
    this.#pieces = [left]
    this.#pieceBytes = left.length
    return asked
  }

  #read(type: string, body: Buffer): readonly string[] {
    switch (type) {
      case 'P': {
        const [name = '', sql = ''] = readStrings(body, 2)
        this.#statements.set(name, sql)
        return []
      }
      case 'B': {
        const [portal = '', statement = ''] = readStrings(body, 2)
        this.#portals.set(portal, this.#statements.get(statement) ?? '')
        return []
      }
      case 'E': {
        const [portal = ''] = readStrings(body, 1)
        this.#executed.push(this.#portals.get(portal) ?? '')
        return []
      }
      case 'Q':
        return [...this.#end(), ...readStrings(body, 1)]
      // The server answers at a Sync, and at a Flush.
      case 'S':
      case 'H':
        return this.#end()
      default:
        return []
    }
  }

  #goBlind(asked: readonly string[]): readonly string[] {
    this.#isBlind = true
    this.#pieces = []
    return asked
  }

  #end(): readonly string[] {
    const executed = this.#executed
    this.#executed = []
    return executed
  }
}

/** The first messages of a connection have no type. They begin with their length, whose first byte is 0. */
const STARTUP = '\0'

/** Is the head of a message. `bytes` counts the whole message, or the least that is needed to know more. */
interface Message {
  readonly type: string
  readonly bytes: number
}

/** Reads the head of a message. Returns undefined where there cannot be one. */
function readMessage(left: Buffer): Message | undefined {
  const type = left.toString('latin1', 0, 1)
  const lengthAt = type === STARTUP ? 0 : 1
  const headBytes = lengthAt + LENGTH_BYTES
  if (type !== '' && type !== STARTUP && !LETTER.test(type)) return undefined
  if (left.length < headBytes) return { type, bytes: headBytes }
  const bytes = lengthAt + left.readInt32BE(lengthAt)
  return bytes < headBytes ? undefined : { type, bytes }
}

/** Reads the strings at the begin of a message, each of which ends with a zero. */
function readStrings(body: Buffer, count: number): readonly string[] {
  const strings: string[] = []
  for (let at = 0; strings.length < count; ) {
    const end = body.indexOf(0, at)
    if (end === -1) break
    strings.push(body.toString('utf8', at, end))
    at = end + 1
  }
  return strings
}
