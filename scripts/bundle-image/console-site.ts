import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { consoleDirectory } from '@counterstep/console/assets'
import type { Metafile, Plugin } from 'esbuild'

const ASSETS = '@counterstep/console/assets'
const NAMESPACE = 'console-site'
/** A bundle finds the console's files here, from its `dist`. */
const SITE_COPY = 'console'

/** In a clone the console is built when it is needed. A program in an image carries it beside its modules. */
export const carriedConsole: Plugin = {
  name: 'carried-console',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${ASSETS}$`) }, () => ({ path: ASSETS, namespace: NAMESPACE }))
    onLoad({ filter: /^/, namespace: NAMESPACE }, () => ({
      contents: [
        "import { join } from 'node:path'",
        `export const consoleDirectory = async () => join(import.meta.dirname, '${SITE_COPY}')`,
      ].join('\n'),
    }))
  },
}

/** The program of the tests looks for the console in the clone, so that no run builds it for nothing. */
export const consoleOfClone: Plugin = {
  name: 'console-of-clone',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${ASSETS}$`) }, () => ({ path: ASSETS, external: true }))
  },
}

/** Puts the built console where a program's bundle finds it, if the program shows it. */
export async function copyConsole({ inputs }: Metafile, folder: string): Promise<void> {
  if (!(`${NAMESPACE}:${ASSETS}` in inputs)) return
  cpSync(await consoleDirectory(), join(folder, 'dist', SITE_COPY), { recursive: true })
}
