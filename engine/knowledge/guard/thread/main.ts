import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { answerThreadCalls } from '../../../core/base/thread-calls.ts';
import { createGit, listWorkingFiles } from '../../../workers/runner/worktrees/index.ts';
import { judgePath, readSource } from '../../sources/index.ts';
import { chooseSamplings } from '../copies/settings.ts';
import { openFingerprintFile } from '../fingerprints/fingerprint-file.ts';
import { createPrintedProjects, type ProjectPrints } from '../fingerprints/project-prints.ts';
import { isDocument } from '../language/wanted-languages.ts';
import { createWriteChecks } from '../writes/check-writes.ts';
import type { FileReport, GuardCalls, GuardThreadSettings, ProjectState } from './messages.ts';

// Runs in a thread, because the engine must not wait while thousands of files are read.

/** Milliseconds between two checks of all files of a folder; longer if a check takes long. */
const LEAST_BETWEEN_MS = 3000;
const TIMES_ITS_LENGTH = 10;
const WARMING_FILES = 24;
const WARMING_MS = 20;
/** Limit for one check of many files. */
const MOST_FINDINGS = 1000;

const {
  file: path,
  copies: settings,
  without,
  parsers,
  primary,
  ...given
} = workerData as GuardThreadSettings;
const { git, close: closeGit } = createGit(given.git);
const file = openFingerprintFile(path, JSON.stringify(chooseSamplings(settings)));
// Worktrees are created and removed.
file.keepRoots((root) => existsSync(root));
const projects = createPrintedProjects({ file, settings, git, without, parsers, primary });
const check = createWriteChecks({ projects, settings, parsers });
const nextLook = new Map<string, number>();
let isWarm = false;

/** Compares some files to warm up the code, so that the first hooks do not wait. */
async function warmUp(project: ProjectPrints): Promise<void> {
  isWarm = true;
  const paths = project.listPaths();
  const count = Math.min(WARMING_FILES, paths.length);
  const wanted = { copies: true, languages: { prose: null, code: null, exclude: [] } };
  for (let at = 0; at < count; at += 1) {
    const path = paths[Math.floor((at * paths.length) / count)] as string;
    const text = readProjectFile(project.root, path);
    const write = { path: `svc-warms-up/${path}`, before: null, text: text ?? '' };
    check({ root: project.root, writes: [write], wanted, budgetMs: WARMING_MS });
    await setImmediate();
  }
}

/** Checks all files, unless that was done a moment ago. A failure only reduces the findings. */
function refreshSoon(project: ProjectPrints): void {
  const begin = performance.now();
  if (begin < (nextLook.get(project.root) ?? 0)) return;
  nextLook.set(project.root, Number.POSITIVE_INFINITY);
  const plan = (): void => {
    const end = performance.now();
    nextLook.set(project.root, end + Math.max(LEAST_BETWEEN_MS, TIMES_ITS_LENGTH * (end - begin)));
  };
  project
    .refresh()
    .then(() => (isWarm ? undefined : warmUp(project)))
    .then(plan, plan);
}

const describeProject = (project: ProjectPrints): ProjectState => ({
  files: project.size,
  isWhole: project.isWhole,
  languages: project.countLanguages(),
});

const calls: Parameters<typeof answerThreadCalls<GuardCalls>>[0] = {
  check(asked) {
    const report = check(asked);
    refreshSoon(projects.open(asked.root));
    return report;
  },
  async checkFiles({ root, paths, wanted }) {
    const project = projects.open(root);
    await project.refresh();
    const known = project.listPaths();
    // Documents are read on demand, and only if they are checked.
    if (wanted.languages.prose !== null) known.push(...(await listDocuments(project.root)));
    const named = paths.map((each) => ({
      each,
      files: known.filter((file) => each === '.' || file === each || file.startsWith(`${each}/`)),
    }));
    const report: FileReport = {
      copies: [],
      languages: [],
      isPartial: false,
      files: 0,
      lost: [],
      unread: named.filter(({ files }) => files.length === 0).map(({ each }) => each),
    };
    for (const file of new Set(named.flatMap(({ files }) => files))) {
      const write = { path: file, before: null, text: readProjectFile(project.root, file) ?? '' };
      const done = check({ root, writes: [write], wanted, budgetMs: null });
      report.copies.push(...done.copies);
      report.languages.push(...done.languages);
      report.lost.push(...done.lost);
      report.isPartial ||= done.isPartial;
      report.files += 1;
      // Lets hooks run in between.
      await setImmediate();
      if (report.copies.length + report.languages.length < MOST_FINDINGS) continue;
      report.isPartial = true;
      break;
    }
    return report;
  },
  async refresh({ root }) {
    const project = projects.open(root);
    await project.refresh();
    return describeProject(project);
  },
  touch({ root, paths }) {
    const project = projects.open(root);
    project.touch(paths.map((each) => relative(project.root, each).split(sep).join('/')));
    refreshSoon(project);
    return null;
  },
};

async function listDocuments(root: string): Promise<string[]> {
  const inside = without.filter((folder) => !isInsideFolder(folder, root));
  const all = (await listWorkingFiles(root, git)) ?? [];
  return all.filter(
    (each) =>
      isDocument(each) &&
      judgePath(each) === null &&
      !inside.some((folder) => isInsideFolder(folder, join(root, each))),
  );
}

function readProjectFile(root: string, file: string): string | null {
  const source = readSource(root, file);
  return typeof source === 'string' ? null : source.text;
}

answerThreadCalls<GuardCalls>(calls, () => {
  closeGit();
  file.close();
});
