// `node scripts/sbom.ts` prints the bill of materials (SPDX): every package that is shipped, and none that only builds or tests. With
// `--executable`, it is the bill of the single executable, which also contains Node.
// `npm sbom --omit dev` is not used: it leaves out what the tests need as well (yaml), and cannot know what is embedded.
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
  const embedded = packages.filter(({ name }) => embeddedPackages.some((one) => one === name))
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
  return onlyShipped(JSON.parse(text) as BillOfMaterials, readLock()) // npm has written it.
}

/** Names of interfaces and data, whose versions are not those of software. */
const noComponents = ['cldr', 'modules', 'napi', 'node', 'tz', 'unicode']

/** The bill with Node and the software in it, in the versions of a process, such as `process.versions`. */
export function withNode(bill: BillOfMaterials, versions: Readonly<Record<string, string | undefined>>): BillOfMaterials {
  const [project = ''] = bill.documentDescribes
  const components = Object.entries(versions).filter(([name, version]) => !noComponents.includes(name) && version)
  const packages = [['node', versions.node ?? ''] as const, ...components].map(([name, version = '']) => ({
    name,
    // Letters, digits, dots and dashes only.
    SPDXID: `SPDXRef-Node-${name}`.replaceAll(/[^\w.-]|_/g, '-'),
    versionInfo: version,
    packageFileName: '',
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: name === 'node' ? 'MIT' : 'NOASSERTION',
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: `pkg:generic/${name}@${encodeURIComponent(version)}`,
      },
    ],
  }))
  const [node, ...parts] = packages.map(({ SPDXID }) => SPDXID)
  const contains = (outer: string, inner: string): Relationship => ({
    spdxElementId: outer,
    relatedSpdxElement: inner,
    relationshipType: 'CONTAINS',
  })
  return {
    ...bill,
    packages: [...bill.packages, ...packages],
    relationships: [...bill.relationships, contains(project, node ?? ''), ...parts.map((part) => contains(node ?? '', part))],
  }
}

if (import.meta.main) {
  const bill = billOfMaterials()
  console.log(JSON.stringify(process.argv.includes('--executable') ? withNode(bill, process.versions) : bill, null, 2))
}
