import { cpSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** The files of the API's page, from the repository's root. */
const SWAGGER_UI_FILES = 'node_modules/@fastify/swagger-ui/static'
/** A bundle finds them here, from its `dist`. */
const SWAGGER_UI_COPY = 'swagger-ui/static'

/** Puts the page's files where a program's bundle finds them. */
export function copySwaggerUi(root: string, folder: string): void {
  cpSync(join(root, SWAGGER_UI_FILES), join(folder, 'dist', SWAGGER_UI_COPY), { recursive: true })
}

/** The page's modules look for its files beside themselves, and a bundled module is elsewhere. */
export const swaggerUiFolder: Plugin = {
  name: 'swagger-ui-folder',
  setup({ onLoad }) {
    onLoad({ filter: /@fastify[\\/]swagger-ui[\\/](index|lib[\\/]routes)\.js$/ }, async ({ path }) => {
      const folder = path.endsWith('index.js') ? 'swagger-ui' : 'swagger-ui/lib'
      const source = await readFile(path, 'utf8')
      return { contents: source.replaceAll('__dirname', `(__dirname + '/${folder}')`), loader: 'js' }
    })
  },
}
