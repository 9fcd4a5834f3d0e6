import { type Gate, isGranted, listScopes, readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { CounterstepError, PANEL_ROWS_MAX, type PanelsView, type PanelView } from '@counterstep/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import type { Operation } from '../openapi/operation.ts'
import { panelExample, panelsExample } from '../openapi/operator-examples.ts'
import { indexPanels, type Panel } from '../panels/panel.ts'

export const panelsOperation: Operation = {
  method: 'get',
  path: '/v1/panels',
  id: 'listPanels',
  tag: 'operations',
  access: ['read', 'admin'],
  summary: 'List the panels that the caller may read',
  description: 'A panel is a table of what the host of the API has beside transactions.',
  answers: { 200: { description: 'The panels.', schema: 'PanelsView', example: panelsExample } },
  problems: [],
}

export const panelOperation: Operation = {
  method: 'get',
  path: '/v1/panels/{id}',
  id: 'getPanel',
  tag: 'operations',
  access: ['read', 'admin'],
  summary: 'Read a panel',
  description: 'Which scope a panel needs depends on the panel. The list has those that the caller may read.',
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 32 } }],
  answers: { 200: { description: 'The panel.', schema: 'PanelView', example: panelExample } },
  problems: ['SAGA_UNKNOWN_PANEL', 'SAGA_TOO_MANY_READS', 'SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'],
}

/** A panel takes its turn among the looks like a text of this length. */
const PANEL_CHARACTERS = 65_536

export function buildPanelRoutes(
  panels: readonly Panel[],
  gate: Gate,
  engine: Pick<EngineApi, 'waitForTurn'>,
  handlerTimeoutMs: number,
) {
  const byId = indexPanels(panels)
  const reads = new Map<string, Promise<PanelView>>()
  const mayRead = ({ access }: Panel, { raw }: FastifyRequest) =>
    isGranted(access, (scope) => gate.allowsScope(scope, raw))

  /** A read that is under way is for all who ask meanwhile, so that many readers cost no more than one. */
  function readOnce(panel: Panel): Promise<PanelView> {
    const running = reads.get(panel.id)
    if (running !== undefined) return running
    const read = readPanel(panel).finally(() => reads.delete(panel.id))
    reads.set(panel.id, read)
    return read
  }

  return async function addPanelRoutes(app: FastifyInstance): Promise<void> {
    const options = { config: { access: panelsOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/panels', options, async function listPanels(request, reply) {
      const items = panels.filter((panel) => mayRead(panel, request)).map(({ id, title }) => ({ id, title }))
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify({ items } satisfies PanelsView))
    })
    app.get('/v1/panels/:id', options, async function getPanel(request, reply) {
      const panel = byId.get(String((request.params as { readonly id: string }).id))
      if (panel === undefined) throw new CounterstepError('SAGA_UNKNOWN_PANEL', 'there is no such panel')
      if (!mayRead(panel, request))
        throw new CounterstepError(
          'SAGA_FORBIDDEN',
          `this panel needs a key with the scope ${listScopes(panel.access).join(' or ')}`,
        )
      await engine.waitForTurn(PANEL_CHARACTERS, readCaller(request.raw))
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(await readOnce(panel)))
    })
  }
}

async function readPanel({ id, title, read }: Panel): Promise<PanelView> {
  const { columns, rows } = await read()
  const more = Math.max(0, rows.length - PANEL_ROWS_MAX)
  return { id, title, asOf: Date.now(), columns, rows: rows.slice(0, PANEL_ROWS_MAX), more }
}
