const OPEN = 0
const CLOSED = 1

/** The writer's thread may be gone or slow, so a reader goes on after this time, and a later checkpoint tries again. */
const WAIT_MS_MAX = 2_500

/**
 * Lets the writer's thread keep the reader's thread from beginning another read. The log can start anew only when no
 * read is under way, so without the gate one read after the other could make it grow for ever. Reads are short, since
 * a page of a list scans a bounded number of rows.
 */
export class ReadGate {
  static readonly bytes = Int32Array.BYTES_PER_ELEMENT
  readonly #state: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory)
  }

  close(): void {
    Atomics.store(this.#state, 0, CLOSED)
  }

  open(): void {
    Atomics.store(this.#state, 0, OPEN)
    Atomics.notify(this.#state, 0)
  }

  /** Blocks the calling thread while the gate is closed, and no longer than `WAIT_MS_MAX`. */
  waitUntilOpen(): void {
    Atomics.wait(this.#state, 0, CLOSED, WAIT_MS_MAX)
  }
}
