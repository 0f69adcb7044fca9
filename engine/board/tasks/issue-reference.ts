/** An issue of a code host. */
interface IssueReference {
  /** `owner/repo`, perhaps with groups before. */
  path: string;
  number: string;
}

/** Reads `owner/repo#9`; null for anything else. */
export function readIssue(reference: string | null): IssueReference | null {
  const [, path, number] = /^([\w.-]+(?:\/[\w.-]+)+)#(\d+)$/.exec(reference ?? '') ?? [];
  return path === undefined || number === undefined ? null : { path, number };
}
