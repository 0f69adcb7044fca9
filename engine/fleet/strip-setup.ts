import type { ProjectSetup } from '../workers/runner/setup/index.ts';

/** Leaves out what stays here: the folder, and commands for a person. Of environment files only the names are sent. */
export const stripSetup = (setup: ProjectSetup): ProjectSetup => ({ ...setup, folder: '', run: [] });
