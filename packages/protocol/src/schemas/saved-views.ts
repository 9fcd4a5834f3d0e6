import * as z from 'zod'
import {
  SAVED_VIEW_FILTER_LENGTH_MAX,
  SAVED_VIEW_NAME_LENGTH_MAX,
  SAVED_VIEWS_MAX,
} from '../saved-view-wire.ts'
import { actorSchema } from './trail.ts'

const name = z.string().min(1).max(SAVED_VIEW_NAME_LENGTH_MAX).describe('Visible characters.')
const filter = z
  .string()
  .max(SAVED_VIEW_FILTER_LENGTH_MAX)
  .describe('The parameters of the list, as in its URL. `range=24h`: the last 24 hours before each look.')

export const savedViewRequestSchema = z
  .object({ name, filter })
  .readonly()
  .describe('A view of the same name is replaced.')

export const savedViewSchema = z
  .object({
    id: z.string(),
    name,
    filter,
    by: actorSchema,
    savedAt: z.number().int().min(0).describe('Milliseconds from the epoch.'),
  })
  .readonly()

export const savedViewsSchema = z
  .object({ items: z.array(savedViewSchema).max(SAVED_VIEWS_MAX).readonly() })
  .readonly()
  .describe('In the order of their names.')
