export { combinePolicies, type PullRequestPolicy } from './config.ts';
export { type AutomaticPullRequests, createAutomaticPullRequests } from './open-ordered.ts';
export { createPullRequestOrders } from './orders.ts';
export { createPullRequestRecords } from './records.ts';
