import { type ChildProcess, fork } from 'node:child_process'
import { dirname, join } from 'node:path'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { Hit, NodeArguments, NodeNews, NodeOrder } from './node-messages.ts'
import type { Point } from './points.ts'

const START_MS_MAX = 60_000
/**
 * The generation has this size from the start: while it grew, each of hundreds of starts would copy its modules about,
 * for a tenth more of CPU time.
 */
const YOUNG_GENERATION = '--min-semi-space-size=16'

export interface StartOptions {
  /** The node's module. */
  readonly program: string
  readonly startMsMax?: number
}

export type NodeStart =
  | { readonly type: 'listening'; readonly node: StartedNode }
  /** It was armed, and died on the way. */
  | { readonly type: 'died' }

/** A node in a process of its own, as its starter sees it. */
export class StartedNode {
  readonly url: string
  /** Resolves with the signal that ended it, or with its exit code. */
  readonly gone: Promise<string>
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess, gone: Promise<string>) {
    this.url = url
    this.#child = child
    this.gone = gone
  }

  /** Starts a node. Its output goes to `watch`, and to the terminal that runs the tests. */
  static async start(
    given: NodeArguments,
    watch: SecretWatch,
    { program, startMsMax = START_MS_MAX }: StartOptions,
  ): Promise<NodeStart> {
    const child = fork(program, [JSON.stringify(given)], {
      execArgv: [YOUNG_GENERATION],
      silent: true,
      // Hundreds of starts read the same modules.
      env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(dirname(given.path)), 'compiled') },
    })
    watch.follow(child, 'the node')
    child.stdout?.pipe(process.stdout, { end: false })
    child.stderr?.pipe(process.stderr, { end: false })
    const gone = new Promise<string>((resolve) =>
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`)),
    )
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, startMsMax)
    const first = await Promise.race([waitForNews(child, 'listening'), gone])
    clearTimeout(timer)
    if (typeof first !== 'string') {
      return { type: 'listening', node: new StartedNode(first.url, child, gone) }
    }
    // Otherwise this kill would count as that of an armed point.
    if (isLate) throw new Error(`the node did not listen within ${startMsMax} ms`)
    if (given.armed !== undefined && first === 'SIGKILL') return { type: 'died' }
    throw new Error(`the node ended with ${first} before it listened`)
  }

  async arm(hit: Hit): Promise<void> {
    await this.#ask({ type: 'arm', hit }, 'armed')
  }

  /** How often each point was passed since the start, or since the last time. */
  async disarm(): Promise<Readonly<Record<Point, number>> | undefined> {
    return (await this.#ask({ type: 'disarm' }, 'disarmed'))?.counts
  }

  async maintain(): Promise<void> {
    await this.#ask({ type: 'maintain' }, 'maintained')
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.gone
  }

  /** Undefined when the node died of it. */
  async #ask<Type extends NodeNews['type']>(
    order: NodeOrder,
    type: Type,
  ): Promise<NewsByType<Type> | undefined> {
    const answer = waitForNews(this.#child, type)
    // It may have died a moment ago; `gone` tells.
    this.#child.send(order, () => undefined)
    const news = await Promise.race([answer, this.gone])
    return typeof news === 'string' ? undefined : news
  }
}

type NewsByType<Type extends NodeNews['type']> = Extract<NodeNews, { readonly type: Type }>

function waitForNews<Type extends NodeNews['type']>(
  child: ChildProcess,
  type: Type,
): Promise<NewsByType<Type>> {
  return new Promise((resolve) => {
    const onMessage = (news: NodeNews) => {
      if (!isNewsOfType(news, type)) return
      child.off('message', onMessage)
      resolve(news)
    }
    child.on('message', onMessage)
  })
}

function isNewsOfType<Type extends NodeNews['type']>(news: NodeNews, type: Type): news is NewsByType<Type> {
  return news.type === type
}
