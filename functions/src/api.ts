import { apiHandler } from './api-handler.ts'
import { openHome } from './function-parts.ts'

/** `index.handler` of the function that takes requests. */
export const handler = await apiHandler(await openHome('api'))
