// `node scripts/sbom.ts` prints the bill of materials (SPDX): every package that is shipped, and none that only builds or tests.
// `npm sbom --omit dev` is not used: it leaves out what the tests need as well (yaml, commander), and cannot know what is embedded.
import { execFileSync } from 'node:child_process'
import { embeddedPackages, type Lock, readLock, shippedIn } from './shipped.ts'

interface SpdxPackage {
  readonly name: string
  readonly SPDXID: string
  readonly versionInfo: string
  /** Path in the lock file; empty for the project itself. */
  readonly packageFileName: string
  readonly licenseDeclared: string
}

interface Relationship {
  readonly spdxElementId: string
  readonly relatedSpdxElement: string
  readonly relationshipType: string
}

export interface BillOfMaterials {
  readonly spdxVersion: string
  readonly documentDescribes: readonly string[]
  readonly packages: readonly SpdxPackage[]
  readonly relationships: readonly Relationship[]
}

/** The part of a bill of all packages that is shipped. */
export function onlyShipped(all: BillOfMaterials, lock: Lock): BillOfMaterials {
  const shipped = shippedIn(lock)
  const packages = all.packages.filter(({ packageFileName }) => packageFileName === '' || shipped.has(packageFileName))
  const known = new Set(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID }) => SPDXID)])
  const [project = ''] = all.documentDescribes
  const embedded = packages.filter(({ name }) => (embeddedPackages as readonly string[]).includes(name))
  const relationships = all.relationships.filter(
    ({ spdxElementId, relatedSpdxElement, relationshipType }) =>
      known.has(spdxElementId) && known.has(relatedSpdxElement) && relationshipType !== 'DEV_DEPENDENCY_OF',
  )
  const contained = embedded.map(({ SPDXID }) => ({
    spdxElementId: project,
    relatedSpdxElement: SPDXID,
    relationshipType: 'CONTAINS',
  }))
  return { ...all, packages, relationships: [...relationships, ...contained] }
}

export function billOfMaterials(): BillOfMaterials {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'spdx', '--package-lock-only'], {
    cwd: new URL('..', import.meta.url).pathname,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return onlyShipped(JSON.parse(text) as BillOfMaterials, readLock())
}

if (import.meta.main) console.log(JSON.stringify(billOfMaterials(), null, 2))
