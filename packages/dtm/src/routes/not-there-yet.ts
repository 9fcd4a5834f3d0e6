import type { FastifyInstance } from 'fastify'
import { notThereYet } from '../wire/not-there-yet.ts'
import { BASE_PATH } from './base-path.ts'
import { READ, SUBMIT } from './route-access.ts'

export function routesNotThereYet(app: FastifyInstance): void {
  app.post(`${BASE_PATH}/prepareWorkflow`, SUBMIT, () => {
    throw notThereYet('workflows are')
  })
  for (const path of ['scanKV', 'queryKV']) {
    app.get(`${BASE_PATH}/${path}`, READ, () => {
      throw notThereYet('the key-value routes are')
    })
  }
  app.post('/api/json-rpc', SUBMIT, () => {
    throw notThereYet('JSON-RPC is')
  })
}
