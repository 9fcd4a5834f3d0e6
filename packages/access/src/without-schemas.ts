/**
 * For fastify's `schemaController`, in an app whose routes have no schemas: what compiles these would be loaded with each
 * app, which is a twentieth of a start. A route that has one keeps its app from becoming ready.
 */
export const WITHOUT_SCHEMAS = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
}

function refuseSchema(): never {
  throw new Error('a route of this app has a schema, and nothing here compiles one')
}
