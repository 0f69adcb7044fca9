import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isBelowFolder, isInsideFolder } from '../../../../engine/core/base/paths.ts';

const CASES: { folder: string; path: string; inside: boolean; below?: boolean; why: string }[] = [
  { folder: '/a/b', path: '/a/b/c', inside: true, why: 'a file in it' },
  { folder: '/a/b', path: '/a/b/c/d', inside: true, why: 'deeper' },
  { folder: '/a/b', path: '/a/b', inside: true, below: false, why: 'the folder itself' },
  {
    folder: '/a/b/',
    path: '/a/b',
    inside: true,
    below: false,
    why: 'itself, with a slash at the end of the folder',
  },
  {
    folder: '/a/b',
    path: '/a/b/',
    inside: true,
    below: false,
    why: 'itself, with a slash at the end of the path',
  },
  { folder: '/a/b/', path: '/a/b/c/', inside: true, why: 'slashes at both ends' },
  { folder: '/a/b', path: '/a/b/..foo', inside: true, why: 'a name that begins with two dots' },
  { folder: '/a/b', path: '/a/b/..foo/c', inside: true, why: 'a folder whose name begins with two dots' },
  { folder: '/a/b', path: '/a/b/...', inside: true, why: 'three dots are a name' },
  { folder: '/a/b', path: '/a/..foo', inside: false, why: 'such a name beside it' },
  { folder: '/a/b', path: '/a/b/..', inside: false, why: 'the folder above it' },
  { folder: '/a/b', path: '/a', inside: false, why: 'the folder above it, by its name' },
  { folder: '/a/b', path: '/a/b/../c', inside: false, why: 'a way out of it' },
  { folder: '/a/b', path: '/a/b/../b/c', inside: true, why: 'out and in again' },
  { folder: '/a/b', path: '/a/bc', inside: false, why: 'a sibling with the same beginning' },
  { folder: '/a/b', path: '/a/bc/d', inside: false, why: 'what is in such a sibling' },
  { folder: '/', path: '/', inside: true, below: false, why: 'the root itself' },
  { folder: '/', path: '/a', inside: true, why: 'everything is in the root' },
  { folder: '/a', path: '/', inside: false, why: 'the root is in no folder' },
  { folder: '/a', path: 'a', inside: false, why: 'a relative path is in no absolute folder' },
  { folder: process.cwd(), path: 'a', inside: false, why: 'nor in the current one' },
  { folder: '.config', path: '.config/agent', inside: true, why: 'both relative to the same folder' },
  {
    folder: '.config',
    path: '.configs/agent',
    inside: false,
    why: 'a relative sibling with the same beginning',
  },
  { folder: '', path: `${process.cwd()}/a`, inside: false, why: 'an empty name is a relative one' },
];

describe('isInside compares a path with a folder', () => {
  for (const { folder, path, inside, below = inside, why } of CASES) {
    test(`${JSON.stringify(path)} and ${JSON.stringify(folder)}: ${why}`, () => {
      assert.equal(isInsideFolder(folder, path), inside);
      assert.equal(isBelowFolder(folder, path), below);
    });
  }
});
