/** Checks the parts of a record that operators' commands have made. The rules rely on these shapes. */
import type { Edit, StoredEntry } from '../transaction.ts'

export function isTrail(value: unknown): value is readonly StoredEntry[] {
  return Array.isArray(value) && value.length > 0 && value.every(isEntry)
}

export function isPause(value: unknown): boolean {
  if (!isObject(value)) return false
  const { at, until = 0, by } = value
  return Number.isInteger(at) && Number.isInteger(until) && isObject(by)
}

export function isListOfEdits(value: unknown): value is readonly Edit[] {
  return Array.isArray(value) && value.every(isEdit)
}

export function isByHand(value: unknown): boolean {
  return (
    isObject(value) && Number.isInteger(value.at) && (value.doneBy === 'service' || value.doneBy === 'hand')
  )
}

function isEntry(value: unknown): boolean {
  if (!isObject(value)) return false
  const { id, at, by, command, from, op = {}, also = [] } = value
  const areTexts = [id, command, from].every((text) => typeof text === 'string')
  return areTexts && Number.isInteger(at) && isObject(by) && isObject(op) && isListOfTexts(also)
}

function isEdit(value: unknown): boolean {
  if (!isObject(value)) return false
  const { branch, op, url = '', body = '', contentType = '', headers = {}, timeoutMs = 1, retry = {} } = value
  const areTexts = [op, url, body, contentType].every((text) => typeof text === 'string')
  return areTexts && [branch, timeoutMs].every(Number.isInteger) && isObject(headers) && isObject(retry)
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
