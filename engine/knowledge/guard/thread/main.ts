import { relative, sep } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { chooseSamplings } from '../copies/settings.ts';
import { openFingerprintFile } from '../fingerprints/fingerprint-file.ts';
import { createPrintedProjects, type ProjectPrints } from '../fingerprints/project-prints.ts';
import { createWriteChecks } from '../writes/check-writes.ts';
import type { ProjectState, ThreadCalls, ThreadRequest, ThreadSettings } from './messages.ts';

// Beside the engine, which must not wait while thousands of files are read.

/** Between two looks at all files of a folder, ms; longer where a look takes long. */
const LEAST_BETWEEN_MS = 3000;
const TIMES_ITS_LENGTH = 10;

const { file: path, copies: settings, env, without, parsers } = workerData as ThreadSettings;
const file = openFingerprintFile(path, JSON.stringify(chooseSamplings(settings)));
const projects = createPrintedProjects({ file, settings, env, without, parsers });
const check = createWriteChecks({ projects, settings, parsers });
const nextLook = new Map<string, number>();

/** Looks at all files, unless that was done a moment ago. Its failure only means that less is found. */
function refreshSoon(project: ProjectPrints): void {
  const begin = performance.now();
  if (begin < (nextLook.get(project.root) ?? 0)) return;
  nextLook.set(project.root, Number.POSITIVE_INFINITY);
  const plan = (): void => {
    const end = performance.now();
    nextLook.set(project.root, end + Math.max(LEAST_BETWEEN_MS, TIMES_ITS_LENGTH * (end - begin)));
  };
  project.refresh().then(plan, plan);
}

const describeProject = (project: ProjectPrints): ProjectState => ({
  files: project.size,
  isWhole: project.isWhole,
  languages: project.countLanguages(),
});

const CALLS: {
  [Call in keyof ThreadCalls]: (
    takes: ThreadCalls[Call]['takes'],
  ) => ThreadCalls[Call]['answers'] | Promise<ThreadCalls[Call]['answers']>;
} = {
  check(asked) {
    const report = check(asked);
    refreshSoon(projects.open(asked.root));
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
  close() {
    file.close();
    return null;
  },
};

parentPort?.on('message', async ({ id, call, takes }: ThreadRequest) => {
  try {
    parentPort?.postMessage({ id, answer: await CALLS[call](takes as never) });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
