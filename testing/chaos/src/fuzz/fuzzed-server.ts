import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'

const READY_MS_MAX = 60_000
const LEVEL_ERROR = 50
/**
 * A client that asks for an answer before the store was asked, under a gid that was taken, learns of it by the log
 * alone.
 */
const TAKEN_GID = /"event":"memory-ack-lost",.*"detail":"other-content"/

export interface ServerFigures {
  readonly residentBytes: number
  readonly heapUsedBytes: number
  readonly resources: number
}

/** A real `counterstep serve` on a store of its own, both faces, and all that it printed. */
export class FuzzedServer {
  readonly url: string
  readonly dtmUrl: string
  /** Hears what it prints. Who asks it lets it hear the answers. */
  readonly watch: SecretWatch
  readonly #child: ChildProcess
  readonly #lines: readonly string[]
  readonly #folder: string

  private constructor({ child, watch, lines, folder }: Started, urls: Urls) {
    this.#child = child
    this.watch = watch
    this.#lines = lines
    this.#folder = folder
    this.url = urls.url
    this.dtmUrl = urls.dtmUrl
  }

  static async start(...flags: readonly string[]): Promise<FuzzedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-fuzz-'))
    const place = ['--port', '0', '--dtm-port', '0', '--data', folder, '--ready-json']
    const child = spawn(process.execPath, [COUNTERSTEP_PROGRAM, 'serve', ...place, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const watch = new SecretWatch()
    watch.follow(child, 'the server')
    const lines: string[] = []
    const urls = await readyUrls(child, lines)
    return new FuzzedServer({ child, watch, lines, folder }, urls)
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Lines that no request may cause: errors in the log, and what is no log line at all. */
  get complaints(): readonly string[] {
    return this.#lines.filter(
      (line) => !line.startsWith('{"url":') && readLevel(line) >= LEVEL_ERROR && !TAKEN_GID.test(line),
    )
  }

  async figures(): Promise<ServerFigures> {
    const text = await (await fetch(`${this.url}/metrics`)).text()
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    return {
      residentBytes: read('process_resident_memory_bytes'),
      heapUsedBytes: read('nodejs_heap_size_used_bytes'),
      resources: read('nodejs_active_resources_total'),
    }
  }

  /** Resolves with the exit code. Throws if a secret was shown. */
  async stop(): Promise<number | null> {
    const code = await new Promise<number | null>((resolve) => {
      if (!this.isRunning) return resolve(this.#child.exitCode)
      this.#child.once('close', resolve)
      this.#child.kill('SIGTERM')
    })
    rmSync(this.#folder, { recursive: true, force: true })
    this.watch.assertNone()
    return code
  }
}

interface Started {
  readonly child: ChildProcess
  readonly watch: SecretWatch
  readonly lines: readonly string[]
  readonly folder: string
}

interface Urls {
  readonly url: string
  readonly dtmUrl: string
}

function readyUrls(child: ChildProcess, lines: string[]): Promise<Urls> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the server ${why}\n${lines.join('\n')}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail('was not ready in time')
    }, READY_MS_MAX)
    child.once('exit', (code) => fail(`exited with ${code}`))
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) return fail('has no output')
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        if (!line.startsWith('{"url":')) return
        clearTimeout(timer)
        // Its own ready line, which names both faces when both listen.
        resolve(JSON.parse(line) as Urls)
      })
    }
  })
}

/** A line that is no log line is a stack trace or a warning of Node's: as bad as an error. */
function readLevel(line: string): number {
  const level = /^\{"level":(\d+)/.exec(line)?.[1]
  return level === undefined ? LEVEL_ERROR : Number(level)
}
