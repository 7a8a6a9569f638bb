// Owns the inputs that `matrix` and `report` share: what belongs to the fleet must be the same for both.
import * as fields from '../fields.ts'

export const fleetFile = fields.filePath('File with the organizations, their services, and the names of their secrets.')

export const labels = fields
  .lines('Only services that bear one of these labels.', 'labels, one a line', fields.text('A label.', 63))
  .optional()
