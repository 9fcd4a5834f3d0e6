/** A program that an image holds, by its modules: name of the file in `dist`, and source from the repository's root. */
export interface Program {
  readonly folder: string
  readonly modules: Readonly<Record<string, string>>
  /** The program tells the version in this manifest. */
  readonly manifest: string
}

const STORE_SQLITE = 'packages/store-sqlite/src'

export const PROGRAMS: readonly Program[] = [
  {
    folder: 'orchestrator',
    manifest: 'packages/cli/package.json',
    modules: {
      main: 'packages/cli/src/main.ts',
      // The two threads and the driver are found by their names beside the module that starts them.
      'sqlite-worker': `${STORE_SQLITE}/sqlite-worker.ts`,
      'sqlite-reader': `${STORE_SQLITE}/sqlite-reader.ts`,
      'node-driver': `${STORE_SQLITE}/node-driver.ts`,
    },
  },
  {
    folder: 'examples',
    manifest: 'examples/bank/package.json',
    modules: { bank: 'examples/bank/src/main.ts', demo: 'scripts/compose-demo.ts' },
  },
]
