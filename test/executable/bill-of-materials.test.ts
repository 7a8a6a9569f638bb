import { describe, expect, it } from 'vitest'
import { billOfMaterials, withNode } from '../../scripts/sbom.ts'
import { embeddedPackages, readLock, shippedIn } from '../../scripts/shipped.ts'

const shipped = shippedIn(readLock())
const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? ''
const ofPackages = billOfMaterials()

describe('the bill of materials of the executable', () => {
  const bill = withNode(ofPackages, process.versions)

  it('adds Node, and the software in Node, to the packages', () => {
    const listed = new Map(bill.packages.map(({ name, versionInfo, SPDXID }) => [SPDXID, `${name} ${versionInfo}`]))
    for (const name of ['node', 'v8', 'openssl', 'uv', 'zlib'] as const)
      expect(listed.get(`SPDXRef-Node-${name}`)).toBe(`${name} ${process.versions[name]}`)
    expect(listed.size).toBe(bill.packages.length)
    expect([...listed.keys()].filter((id) => !/^SPDXRef-[A-Za-z0-9.-]+$/.test(id))).toEqual([])
    expect([...listed.values()].filter((text) => text.endsWith(' '))).toEqual([])
  })

  it('the bill of materials of the executable names the parent of each package', () => {
    const contained = bill.relationships.filter(({ relationshipType }) => relationshipType === 'CONTAINS')
    expect(contained).toContainEqual(
      expect.objectContaining({ spdxElementId: bill.documentDescribes[0], relatedSpdxElement: 'SPDXRef-Node-node' }),
    )
    expect(contained).toContainEqual(
      expect.objectContaining({ spdxElementId: 'SPDXRef-Node-node', relatedSpdxElement: 'SPDXRef-Node-openssl' }),
    )
  })
})

describe('the bill of materials', () => {
  const { spdxVersion, packages, relationships, documentDescribes } = ofPackages
  const [project = ''] = documentDescribes

  it('the bill of materials lists what is shipped, and nothing else', () => {
    expect(spdxVersion).toBe('SPDX-2.3')
    const listed = packages.filter(({ SPDXID }) => SPDXID !== project)
    // Before npm 11, the bill lists a package once for each place where it is installed.
    const found = new Set(listed.map(({ name, versionInfo }) => `${name} ${versionInfo}`))
    const wanted = new Set([...shipped].map(([path, { version }]) => `${nameOf(path)} ${version}`))
    expect([...found].sort()).toEqual([...wanted].sort())
  })

  it('the bill of materials names the path of each package', () => {
    const related = new Set(relationships.flatMap(({ spdxElementId, relatedSpdxElement }) => [spdxElementId, relatedSpdxElement]))
    expect(packages.filter(({ SPDXID }) => !related.has(SPDXID))).toEqual([])
    const contained = relationships.flatMap((one) => (one.relationshipType === 'CONTAINS' ? [one.relatedSpdxElement] : []))
    expect(contained).toHaveLength(embeddedPackages.length)
  })
})
