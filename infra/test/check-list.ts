/** Prints each check when it ends, and the counts on the last line, which `npm test` reads. */
export class CheckList {
  #passed = 0
  #failed = 0
  #skipped = 0
  readonly #print: (line: string) => void

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** Runs one check. `work` may return a remark, such as what it has measured. Returns whether the check has passed. */
  async check(name: string, work: () => Promise<string | undefined> | string | undefined): Promise<boolean> {
    try {
      const remark = await work()
      this.#passed++
      this.#print(`ok ${name}${remark === undefined ? '' : ` (${remark})`}`)
      return true
    } catch (error: unknown) {
      this.#failed++
      this.#print(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
      this.#print(`not ok ${name}`)
      return false
    }
  }

  skip(name: string, reason: string): void {
    this.#skipped++
    this.#print(`skipped ${name}: ${reason}`)
  }

  /** Prints the counts. Returns whether no check has failed. */
  printCounts(): boolean {
    const skipped = this.#skipped === 0 ? '' : `, ${this.#skipped} skipped`
    this.#print(`${this.#passed} passed, ${this.#failed} failed${skipped}`)
    return this.#failed === 0
  }
}
