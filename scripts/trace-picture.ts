/**
 * Draws the picture of a trace in docs/guides/observe.md anew. The test of the traces compensates a saga between two services,
 * and this draws the spans that a receiver of OTLP got, as a tool for traces would.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DrawnSpan, drawTrace } from './trace/draw-trace.ts'

const ROOT = join(import.meta.dirname, '..')
const SPANS = join(ROOT, '.tmp', 'trace.json')
const PICTURE = join(ROOT, 'docs', 'guides', 'pictures', 'trace.svg')
const TITLE = 'One saga from its caller into two services, and the undo after the second has refused'

interface Received extends DrawnSpan {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly Readonly<Record<string, string>>[]
}

const args = ['exec', '--', 'vitest', 'run', '--project', 'packages', 'testing/system/e2e/traces']
execFileSync('npm', args, { cwd: ROOT, stdio: 'inherit' })
const spans = (JSON.parse(readFileSync(SPANS, 'utf8')) as readonly Received[]).map((span) => ({
  ...span,
  notes: [
    ...[span.attributes['counterstep.result'] ?? span.attributes['counterstep.status']].flatMap((note) =>
      note === undefined ? [] : [String(note)],
    ),
    ...span.events.map((event) => `barrier: ${event['counterstep.decision']}`),
  ],
}))
writeFileSync(PICTURE, drawTrace(spans, TITLE))
