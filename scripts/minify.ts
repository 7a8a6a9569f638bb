import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { minifySync } from 'rolldown/utils'

/** Minifies the JavaScript of a directory in place, as that of dist/. */
export function minifyFiles(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))) {
    const { code, errors } = minifySync(name, readFileSync(join(directory, name), 'utf8'), { module: true })
    if (errors.length > 0) throw new Error(`${name} cannot be minified: ${errors.map(({ message }) => message).join('; ')}`)
    writeFileSync(join(directory, name), code)
  }
}
