import type { Plugin } from 'esbuild'

/** The exports that are used of these packages by a module that loads them late. */
const EXPORTS: Readonly<Record<string, string>> = {
  '@fastify/swagger': 'fastifySwagger',
  '@fastify/swagger-ui': 'fastifySwaggerUi',
}

/** Node finds the names of a CommonJS module that is loaded late, where a bundle would have its default alone. */
export const nameExports: Plugin = {
  name: 'name-exports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@fastify\/swagger(-ui)?$/ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' ? { path, namespace: 'named', pluginData: resolveDir } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'named' }, ({ path, pluginData: resolveDir }) => ({
      contents: `export { ${EXPORTS[path]} } from '${path}'`,
      resolveDir,
    }))
  },
}
