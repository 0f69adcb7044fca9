import { readIssue } from '../board/tasks/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { chooseRemote, getAddress, type PublishRemote, type PullRequestProgram } from './programs.ts';
import type { PullRequest } from './records.ts';
import { readWebPlace, type WebPlace } from './web-place.ts';

const PULL_REQUEST_PATHS: Readonly<Record<PullRequestProgram, string>> = {
  gh: 'pull',
  glab: '-/merge_requests',
  tea: 'pulls',
};

const findPlace = (remote: PublishRemote | null | undefined): WebPlace | null =>
  remote == null ? null : readWebPlace(getAddress(remote));

/** Finds the page of a recorded pull request. Throws `not_found`. */
export function findPullRequestPage(
  { number, url, remote, program }: PullRequest,
  remotes: readonly PublishRemote[],
): string {
  if (url !== null && /^https?:\/\//.test(url)) return url;
  const place = findPlace(remotes.find(({ name }) => name === remote));
  if (number === null || place === null)
    throw new SvcError('not_found', 'the address of the pull request is not known');
  return `${place.origin}/${place.path}/${PULL_REQUEST_PATHS[program]}/${number}`;
}

/**
 * Finds the page of an issue by its reference, `owner/repo#9`: at the remote of that name, otherwise at the host of the
 * remote that is pushed to. The hosts that send references lead from an issue to a pull request of the same number.
 * Throws `not_found`.
 */
export function findIssuePage(reference: string, remotes: readonly PublishRemote[]): string {
  const issue = readIssue(reference);
  if (issue === null) throw new SvcError('not_found', `${JSON.stringify(reference)} names no issue`);
  const { path, number } = issue;
  const places = remotes.flatMap((each) => findPlace(each) ?? []);
  const own = places.find((each) => each.path.toLowerCase() === path.toLowerCase());
  const place = own ?? findPlace(chooseRemote(remotes));
  if (place === null)
    throw new SvcError('not_found', `no remote of the repository tells where ${reference} is on the web`);
  return `${place.origin}/${path}/issues/${number}`;
}
