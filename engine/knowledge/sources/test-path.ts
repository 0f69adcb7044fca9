const TEST_PATH =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|e2e)\/|(?:^|\/)(?:test_[^/]+|conftest)\.py$|[._-](?:test|tests|spec)\.[^./]+$|_test\.go$|(?:^|\/)tests?\.rs$|Tests?\.(?:java|kt|cs)$/;

/** Reports whether a path is a test, by the usual names. */
export const isTestPath = (path: string): boolean => TEST_PATH.test(path);
