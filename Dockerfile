# The command line as an image. The context has the executable in a directory for each processor, and the licenses: release.yml lays it out
# from the archives of a release, and docs/start.md from a clone.
FROM gcr.io/distroless/cc-debian13:nonroot@sha256:54df941ed0d06a1bd95ef5e0ce391fd8d9f94b64782dc9a60062727849ee3f97

ARG TARGETARCH
COPY --chmod=0555 ${TARGETARCH}/watchkeeper /usr/local/bin/watchkeeper
COPY LICENSE licenses.txt /usr/share/doc/watchkeeper/

# Where files of the repository are mounted.
WORKDIR /repository

# By number, so that Kubernetes can check `runAsNonRoot`.
USER 65532:65532

ENTRYPOINT ["/usr/local/bin/watchkeeper"]
CMD ["--help"]
