import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/** The files of the API's page, from the repository's root. */
export const SWAGGER_UI_FILES = 'node_modules/@fastify/swagger-ui/static'
/** Where a bundle finds them, from its `dist`. */
export const SWAGGER_UI_COPY = 'swagger-ui/static'

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
