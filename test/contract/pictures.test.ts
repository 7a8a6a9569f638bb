import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { digestOfPicture, imagesDirectory, pictures, readDigests, textOfPicture, themes } from '../../scripts/pictures/texts.ts'

describe('the pictures of the documents', () => {
  // `npm run pictures` draws those that differ.
  it.each(Object.entries(pictures))('the picture %s shows the report as it is today: else run npm run pictures', async (name, picture) => {
    expect(digestOfPicture(await textOfPicture(picture))).toBe(readDigests()[name])
  })

  it('has no file besides those that npm run pictures writes', () => {
    const files = Object.keys(pictures).flatMap((name) => themes.map((theme) => `${name}-${theme}.png`))
    expect(readdirSync(imagesDirectory).toSorted()).toEqual([...files, 'digests.json'].toSorted())
  })
})
