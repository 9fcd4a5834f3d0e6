/**
 * Serves as fastify's `schemaController` in an app whose routes have no schemas. Fastify's compilers of schemas would
 * be loaded with each app, which takes a twentieth of a start. A route that has a schema keeps its app from becoming
 * ready.
 */
export const WITHOUT_SCHEMAS = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
}

function refuseSchema(): never {
  throw new Error('a route of this app has a schema, and nothing here compiles one')
}
