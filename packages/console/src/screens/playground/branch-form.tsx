import { type JsonValue, OPS, type Op, type OpenKind } from '@counterstep/protocol'
import { BreakControl } from './break-control.tsx'
import { type DraftBranch, setField, URL_FIELDS } from './draft.ts'
import { PayloadField } from './payload-field.tsx'
import { TextField } from './text-field.tsx'

interface BranchFormProps {
  readonly kind: OpenKind
  readonly branch: DraftBranch
  readonly isBreakable: boolean
  readonly onChange: (branch: DraftBranch) => void
  readonly onRemove: () => void
}

export function BranchForm({ kind, branch, isBreakable, onChange, onRemove }: BranchFormProps) {
  const set = (name: string, value: JsonValue | undefined) => onChange(setField(branch, name, value))
  const id = toText(branch.id)
  return (
    <fieldset className="branch">
      <legend>
        branch <strong>{id === '' ? 'without an id' : id}</strong>
        <button type="button" className="plain" onClick={onRemove} aria-label={`Remove the branch ${id}`}>
          ×
        </button>
      </legend>
      <div className="two">
        <TextField label="id" value={id} onChange={(text) => set('id', text)} />
        {kind === 'saga' ? (
          <TextField
            label="after"
            placeholder="the one before"
            value={toWords(branch.after)}
            onChange={(text) => set('after', text.trim() === '' ? undefined : text.trim().split(/[\s,]+/))}
          />
        ) : null}
      </div>
      {URL_FIELDS[kind].map((name) => (
        <div key={name} className="url-row">
          <TextField label={name} value={toText(branch[name])} onChange={(text) => set(name, text)} />
          {isBreakable ? <BreakControl url={toText(branch[name])} op={toOp(name)} /> : null}
        </div>
      ))}
      <PayloadField value={branch.payload} onChange={(value) => set('payload', value)} />
    </fieldset>
  )
}

function toOp(field: string): Op {
  return OPS.find((op) => op === field) ?? 'compensate'
}

function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function toWords(value: JsonValue | undefined): string {
  return Array.isArray(value) ? value.join(', ') : ''
}
