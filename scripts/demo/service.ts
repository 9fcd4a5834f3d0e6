import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'

const START_MS_MAX = 30_000
const STOP_MS_MAX = 12_000
const LINES_KEPT = 10
const LOG_BYTES_MAX = 10 * 1024 * 1024
const FOLLOW_PARENT = new URL('../follow-parent.mjs', import.meta.url).href

export interface ServiceSpec {
  readonly name: string
  /** The script to run, and its arguments. */
  readonly args: readonly string[]
  readonly logFolder: string
}

/** A child process that prints one JSON line with its `url` once it listens. All it prints goes to its log file. */
export class Service {
  readonly name: string
  readonly logPath: string
  /** Settles when the process has ended, for any reason. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #announced: Promise<string>
  readonly #log: WriteStream
  readonly #lastLines: string[] = []
  #stopping = false

  constructor({ name, args, logFolder }: ServiceSpec) {
    this.name = name
    this.logPath = join(logFolder, `${name}.log`)
    this.#log = openLog(this.logPath)
    // Its own process group: Ctrl-C reaches only the demo, which then stops its children in order.
    this.#child = spawn(process.execPath, ['--import', FOLLOW_PARENT, ...args], {
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const lines = this.#streams().map((input) => createInterface({ input }))
    this.#announced = this.#readLines(lines)
    this.ended = this.#end(lines)
  }

  /** The URL under which it listens. Rejects when it ends before, or takes too long. */
  async ready(): Promise<string> {
    let limit: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_resolve, reject) => {
      limit = setTimeout(() => reject(new Error(this.#trouble('does not start'))), START_MS_MAX)
    })
    const dead = this.ended.then(() => Promise.reject(new Error(this.#trouble('did not start'))))
    try {
      return await Promise.race([this.#announced, tooLate, dead])
    } finally {
      clearTimeout(limit)
    }
  }

  /** Rejects when it ends although it was not asked to. */
  async died(): Promise<never> {
    await this.ended
    if (this.#stopping) return new Promise<never>(() => undefined)
    throw new Error(this.#trouble('ended by itself'))
  }

  /** Asks it to stop as a SIGTERM would, which works where there are no signals; ends it when it does not. */
  async stop(): Promise<void> {
    this.#stopping = true
    if (this.#child.connected) this.#child.disconnect()
    const limit = setTimeout(() => this.kill(), STOP_MS_MAX)
    await this.ended
    clearTimeout(limit)
  }

  kill(): void {
    this.#stopping = true
    this.#child.kill('SIGKILL')
  }

  /** Writes every line to the log, and resolves with the announced URL. */
  #readLines(lines: readonly Interface[]): Promise<string> {
    return new Promise((resolve) => {
      for (const each of lines) {
        each.on('line', (text) => {
          this.#log.write(`${text}\n`)
          this.#lastLines.push(text)
          if (this.#lastLines.length > LINES_KEPT) this.#lastLines.shift()
          const url = urlIn(text)
          if (url !== undefined) resolve(url)
        })
      }
    })
  }

  /** When it has ended and its last line is read. Not its event `close`, which a disconnected child does not have. */
  async #end(lines: readonly Interface[]): Promise<void> {
    const read = Promise.all(lines.map((each) => once(each, 'close')))
    await new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve())
      this.#child.once('error', () => resolve())
    })
    await read
    this.#log.end()
  }

  #streams(): Readable[] {
    return [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null)
  }

  #trouble(what: string): string {
    const lines = this.#lastLines.map((line) => `  ${readable(line)}`)
    return [`${this.name} ${what}. Its last lines (all in ${this.logPath}):`, ...lines].join('\n')
  }
}

/** Goes on with the file of earlier runs (another one may still write to it), unless that has grown too long. */
function openLog(path: string): WriteStream {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return createWriteStream(path, { flags: bytes < LOG_BYTES_MAX ? 'a' : 'w' })
}

/** Log lines have a level; the announcement has only what it announces. */
function urlIn(line: string): string | undefined {
  const value = parse(line)
  return value !== undefined && typeof value.url === 'string' && !('level' in value) ? value.url : undefined
}

function readable(line: string): string {
  const value = parse(line)
  return value !== undefined && typeof value.msg === 'string' ? value.msg : line
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
