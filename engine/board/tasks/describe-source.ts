/** Writes where a task comes from: `codehost (acme/shop#12) by codehost:ada (member)`. Lists know no author. */
export function describeTaskSource({
  source,
  source_ref: reference,
  author = null,
  author_role: role = null,
}: {
  source: string;
  source_ref: string | null;
  author?: string | null;
  author_role?: string | null;
}): string {
  const from = reference === null ? source : `${source} (${reference})`;
  if (author === null) return from;
  return `${from} by ${author}${role === null ? '' : ` (${role.replaceAll('_', ' ')})`}`;
}
