import type { Runner } from '../src/runner.ts'

interface CollectedTest {
  readonly title: string
  readonly run: () => Promise<void>
}

/** Takes the place of a test runner, so that a test can expect tests to fail. */
export class CollectingRunner implements Runner {
  readonly #tests: CollectedTest[] = []
  readonly #titles: string[] = []
  readonly #before: (() => Promise<void>)[] = []
  readonly #after: (() => Promise<void>)[] = []

  readonly describe = (name: string, define: () => void): void => {
    this.#titles.push(name)
    define()
    this.#titles.pop()
  }

  readonly it = (name: string, run: () => Promise<void>): void => {
    this.#tests.push({ title: `${this.#titles.at(-1)}: ${name}`, run })
  }

  readonly before = (run: () => Promise<void>): void => {
    this.#before.push(run)
  }

  readonly after = (run: () => Promise<void>): void => {
    this.#after.push(run)
  }

  /** Lists the failed tests with this word in the title, and their errors. */
  async failures(word = ''): Promise<readonly string[]> {
    const failed: string[] = []
    for (const run of this.#before) await run()
    for (const { title, run } of this.#tests.filter(({ title }) => title.includes(word))) {
      await run().catch((error: unknown) => failed.push(`${title}: ${String(error)}`))
    }
    for (const run of this.#after) await run()
    return failed
  }
}
