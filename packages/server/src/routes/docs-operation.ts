import type { Operation } from '../openapi/operation.ts'

/** Apart from its route, whose plugins are not to be loaded for the document alone. */
export const docsOperation: Operation = {
  method: 'get',
  path: '/docs',
  id: 'getDocs',
  tag: 'operations',
  access: ['read'],
  summary: 'This document for people, without anything from the network',
  answers: { 200: { description: 'A page.', contentType: 'text/html' } },
  problems: [],
}
