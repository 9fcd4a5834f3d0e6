import { KINDS, STATUSES } from '@counterstep/protocol'
import { useState } from 'react'
import {
  FLAGS,
  type Flag,
  isEmptyFilter,
  type ListFilter,
  ORDERS,
  RANGES,
} from '../../filters/list-filter.ts'
import { Mark, StatusMark } from '../../parts/status-mark.tsx'
import { Choice } from './choice.tsx'
import { TextFilter } from './text-filter.tsx'
import { ViewsMenu } from './views-menu.tsx'

interface FilterBarProps {
  readonly filter: ListFilter
  readonly onChange: (filter: ListFilter) => void
}

const ORDER_WORDS = { created: 'newest first', due: 'due first', '-due': 'due last' } as const
const RANGE_WORDS = {
  '15m': 'last 15 min',
  '1h': 'last hour',
  '24h': 'last 24 h',
  '7d': 'last 7 days',
} as const

export function FilterBar({ filter, onChange }: FilterBarProps) {
  const [isOpen, open] = useState(false)
  return (
    <search className="filters" aria-label="Filters">
      <div className="chips">
        <StatusChips filter={filter} onChange={onChange} />
        <span className="rule" />
        <FlagChips filter={filter} onChange={onChange} />
        <ViewsMenu filter={filter} />
      </div>
      {/* A phone shows the fields when they are wanted; elsewhere there is room for them. */}
      <button type="button" className="more-filters" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        More filters {isOpen ? '▴' : '▾'}
      </button>
      <div className="fields" data-open={isOpen}>
        <TextFilters filter={filter} onChange={onChange} />
      </div>
    </search>
  )
}

function StatusChips({ filter, onChange }: FilterBarProps) {
  const chosen = filter.status ?? []
  return STATUSES.map((status) => (
    <button
      key={status}
      type="button"
      className="chip"
      aria-pressed={chosen.includes(status)}
      onClick={() => onChange(replace(filter, 'status', toggle(chosen, status)))}
    >
      <StatusMark status={status} />
    </button>
  ))
}

function FlagChips({ filter, onChange }: FilterBarProps) {
  const chosen: readonly Flag[] = filter.flags ?? []
  return FLAGS.map((flag) => (
    <button
      key={flag}
      type="button"
      className="chip"
      aria-pressed={chosen.includes(flag)}
      onClick={() => onChange(replace(filter, 'flags', toggle(chosen, flag)))}
    >
      <Mark name={flag} />
    </button>
  ))
}

function TextFilters({ filter, onChange }: FilterBarProps) {
  const set = <Name extends keyof ListFilter>(name: Name, value: ListFilter[Name] | undefined) =>
    onChange(replace(filter, name, value))
  return (
    <>
      <Choice
        label="kind"
        value={filter.kind}
        options={KINDS}
        none="any kind"
        onChange={(kind) => set('kind', kind)}
      />
      <TextFilter label="name" value={filter.name} onChange={(name) => set('name', name)} />
      <TextFilter
        label="tag"
        value={filter.tag?.join(' ')}
        placeholder="key:value"
        onChange={(text) => set('tag', text?.split(/\s+/))}
      />
      <TextFilter label="problem" value={filter.problem} onChange={(problem) => set('problem', problem)} />
      <TextFilter
        label="gid"
        value={filter.gid}
        placeholder="gid or gid*"
        onChange={(gid) => set('gid', gid)}
      />
      <Choice
        label="accepted"
        value={filter.range}
        options={RANGES}
        words={RANGE_WORDS}
        none="at any time"
        onChange={(range) => set('range', range)}
      />
      <Choice
        label="order"
        value={filter.order ?? 'created'}
        options={ORDERS}
        words={ORDER_WORDS}
        onChange={(order) => set('order', order)}
      />
      {isEmptyFilter(filter) ? null : (
        <button type="button" className="plain" onClick={() => onChange({})}>
          × clear
        </button>
      )}
    </>
  )
}

function toggle<Word>(words: readonly Word[], word: Word): readonly Word[] | undefined {
  const next = words.includes(word) ? words.filter((each) => each !== word) : [...words, word]
  return next.length === 0 ? undefined : next
}

function replace<Name extends keyof ListFilter>(
  filter: ListFilter,
  name: Name,
  value: ListFilter[Name] | undefined,
): ListFilter {
  const { [name]: _before, ...others } = filter
  return value === undefined ? others : { ...others, [name]: value }
}
