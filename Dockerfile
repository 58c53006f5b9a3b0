# docker build -t antecede . && docker run --rm -v "$PWD:/work" antecede check specs
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
# hadolint ignore=DL3013
RUN python -m pip install --no-cache-dir --no-compile --prefix /installed '.[pictures,prove]'

FROM python:3.12-slim
COPY --from=build /installed /usr/local
RUN useradd --create-home --uid 1000 user
USER 1000
# The compiled search code is kept in the image, so that the first check is as fast as all others.
RUN antecede compile
WORKDIR /work
ENTRYPOINT ["antecede"]
CMD ["--help"]
