/** What files a run may bring back. */
export interface ArtifactBounds {
  readonly artifactMiB: number;
  readonly artifacts: number;
}
