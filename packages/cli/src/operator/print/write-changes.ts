import type { PlanView } from '@counterstep/protocol'
import type { EditOptions, OpName } from '@counterstep/sdk/operator'
import { cleanLine } from './clean-text.ts'

/** An edit would replace these. */
export interface Changes {
  readonly op: OpName
  readonly fields: Partial<EditOptions>
}

/**
 * Writes what an edit replaces. Only the URL and the time-out are shown; content, headers and queries are named,
 * because they may hold secrets.
 */
export function writeChanges(plan: PlanView, { op, fields }: Changes): string {
  const { url, payload, body, contentType, headers, timeoutMs, retry } = fields
  const before = findCall(plan, op)?.url
  const parts = [
    ...(url === undefined ? [] : [`url ${before === undefined ? '' : `${before} `}→ ${hideQuery(url)}`]),
    ...(payload === undefined ? [] : ['payload']),
    ...(body === undefined ? [] : ['body']),
    ...(contentType === undefined ? [] : ['content type']),
    ...(headers === undefined ? [] : [`headers ${Object.keys(headers).join(' ')}`]),
    ...(timeoutMs === undefined ? [] : [`time-out → ${timeoutMs} ms`]),
    ...(retry === undefined ? [] : ['retry']),
  ]
  return cleanLine(`  It changes of ${op.branchId}.${op.op}: ${parts.join(', ')}`)
}

/** The plan is made from the record, which does not have the edit yet. */
export function showEditedUrl(plan: PlanView, { op, fields: { url } }: Changes): PlanView {
  const edited = findCall(plan, op)
  if (url === undefined || edited === undefined) return plan
  const withUrl = { ...edited, url: hideQuery(url) }
  return {
    ...plan,
    steps: plan.steps.map((calls) => calls.map((call) => (call === edited ? withUrl : call))),
  }
}

function findCall({ steps }: PlanView, { branchId, op }: OpName) {
  return steps.flat().find((call) => call.branchId === branchId && call.op === op)
}

function hideQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…')
}
