import * as z from 'zod'
import { PANEL_COLUMN_TYPES, PANEL_ROWS_MAX } from '../panel-wire.ts'

const panelName = { id: z.string(), title: z.string() }

export const panelsViewSchema = z
  .object({ items: z.array(z.object(panelName).readonly()).readonly() })
  .readonly()
  .describe('The panels that the caller may read.')

export const panelViewSchema = z
  .object({
    ...panelName,
    asOf: z.number().int().min(0).describe('When this was put together. Milliseconds from the epoch.'),
    columns: z
      .array(
        z
          .object({
            title: z.string(),
            type: z
              .enum(PANEL_COLUMN_TYPES)
              .describe('instant: milliseconds from the epoch, or a text in their place.'),
          })
          .readonly(),
      )
      .readonly(),
    rows: z
      .array(z.array(z.union([z.string(), z.number(), z.null()])).readonly())
      .max(PANEL_ROWS_MAX)
      .readonly()
      .describe('Each has one cell for each column. null: there is nothing in this place.'),
    more: z.number().int().min(0).describe('So many rows were left out.'),
  })
  .readonly()
