import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { POINTS, type Point, type Step } from './points.ts'

const SHARED_KEY = 'counterstep-crash-switch'
const ARMED_POINT = 0
const HITS_LEFT = 1
const COUNTS_FROM = 2
const NOTHING = -1

/**
 * Counts how often each point is passed, and kills the process at one of them: by SIGKILL, so that nothing is flushed
 * or closed. The cells are shared with the threads of the process, since a commit happens in the store's own thread.
 */
export class CrashSwitch {
  readonly #cells: Int32Array

  private constructor(cells: Int32Array) {
    this.#cells = cells
  }

  /** Call this before the first thread is started. */
  static share(): CrashSwitch {
    const memory = new SharedArrayBuffer((COUNTS_FROM + POINTS.length) * Int32Array.BYTES_PER_ELEMENT)
    setEnvironmentData(SHARED_KEY, memory)
    const crash = new CrashSwitch(new Int32Array(memory))
    crash.disarm()
    return crash
  }

  /** Call this in a thread of the process that shares it. */
  static ofProcess(): CrashSwitch {
    const memory = getEnvironmentData(SHARED_KEY)
    if (!(memory instanceof SharedArrayBuffer)) throw new Error('no crash switch is shared with this thread')
    return new CrashSwitch(new Int32Array(memory))
  }

  /** Dies at the `nth` hit from now on, 1 for the next. */
  arm(point: Point, nth: number): void {
    Atomics.store(this.#cells, HITS_LEFT, nth)
    Atomics.store(this.#cells, ARMED_POINT, POINTS.indexOf(point))
  }

  disarm(): void {
    Atomics.store(this.#cells, ARMED_POINT, NOTHING)
    this.#cells.fill(0, COUNTS_FROM)
  }

  counts(): Readonly<Record<Point, number>> {
    const counts = POINTS.map((point, index) => [point, Atomics.load(this.#cells, COUNTS_FROM + index)])
    return Object.fromEntries(counts) as Record<Point, number>
  }

  pass(point: Point): void {
    const index = POINTS.indexOf(point)
    Atomics.add(this.#cells, COUNTS_FROM + index, 1)
    if (Atomics.load(this.#cells, ARMED_POINT) !== index) return
    if (Atomics.sub(this.#cells, HITS_LEFT, 1) === 1) process.kill(process.pid, 'SIGKILL')
  }

  async around<T>(step: Step, act: () => Promise<T>): Promise<T> {
    this.pass(`${step}-before`)
    const result = await act()
    this.pass(`${step}-after`)
    return result
  }
}
