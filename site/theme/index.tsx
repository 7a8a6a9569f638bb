// The theme of the generator, with an edit link that leads to the document in the repository.
import { usePageData } from '@rspress/core/runtime'

// biome-ignore lint/performance/noReExportAll: the generator replaces its theme by what this file exports
export * from '@rspress/core/theme-original'

/** The generator's own edit link knows only the path in content/. */
export function EditLink({ isOutline }: { readonly isOutline?: boolean }) {
  const { page } = usePageData()
  const { editUrl } = page.frontmatter
  if (typeof editUrl !== 'string') return null
  return (
    <a className={isOutline ? 'rp-outline__action-row rp-edit-link' : 'rp-edit-link'} href={editUrl}>
      Edit this page
    </a>
  )
}
